/* hiredis: ADDRESS KEY [TOKEN]. One ID, a hundred, five in a pipeline, and what is refused. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redisReply* checked(redisContext* client, redisReply* reply) {
    if (reply != NULL) return reply;
    fprintf(stderr, "hiredis: %s\n", client->errstr);
    exit(1);
}

static void tell(const char* what, redisReply* reply) {
    if (reply->type == REDIS_REPLY_ERROR)
        printf("%s%s", what, strtok(reply->str, ":"));
    else
        printf("%s%lld", what, reply->integer);
    freeReplyObject(reply);
}

int main(int argc, char** argv) {
    if (argc < 3) return 64;
    const char* const key = argv[2];
    char* const colon = argv[1][0] == '/' ? NULL : strrchr(argv[1], ':');
    if (colon != NULL) *colon = '\0';
    redisContext* const client = colon == NULL ? redisConnectUnix(argv[1]) : redisConnect(argv[1], atoi(colon + 1));
    if (client == NULL || client->err) {
        fprintf(stderr, "hiredis: %s\n", client == NULL ? "no memory" : client->errstr);
        return 1;
    }
    if (argc > 3) freeReplyObject(checked(client, redisCommand(client, "AUTH %s", argv[3])));
    tell("one ", checked(client, redisCommand(client, "INCR %s", key)));
    tell("\nhundred ", checked(client, redisCommand(client, "INCRBY %s %d", key, 100)));
    for (int i = 0; i < 5; ++i) redisAppendCommand(client, "INCR %s", key);
    for (int i = 0; i < 5; ++i) {
        void* reply = NULL;
        redisGetReply(client, &reply);
        tell(i == 0 ? "\nfive " : " ", checked(client, reply));
    }
    tell("\nrefused ", checked(client, redisCommand(client, "SET %s 1", key)));
    printf("\n");
    redisFree(client);
    return 0;
}
