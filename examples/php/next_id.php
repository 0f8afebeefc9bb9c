<?php
// IDs in PHP, with its curl extension. A 64-bit PHP reads them exactly.
declare(strict_types=1);

final class NoId extends RuntimeException
{
}

/** @return int[] */
function next_ids(int $count): array
{
    $socket = getenv('NEXT_ID_SOCKET') ?: '/run/next-id/next-id.sock';
    $curl = curl_init("http://localhost/next-id?count=$count");
    curl_setopt_array($curl, [
        CURLOPT_UNIX_SOCKET_PATH => $socket,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 5,
    ]);
    $body = curl_exec($curl);
    if ($body === false) {
        throw new NoId("no ID from $socket: " . curl_error($curl));
    }
    $answer = json_decode($body, flags: JSON_THROW_ON_ERROR);
    $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
    if ($status !== 200) {
        throw new NoId("no ID from $socket: $status $answer->msg: " . ($answer->error ?? ''));
    }
    return $answer->data->ids;
}

function next_id(): int
{
    return next_ids(1)[0];
}

try {
    echo 'id ' . next_id() . "\n";
    echo 'ids ' . implode(' ', next_ids(3)) . "\n";
} catch (NoId $error) {
    fwrite(STDERR, $error->getMessage() . "\n");
    exit(1);
}
