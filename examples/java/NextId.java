import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/**
 * IDs in Java 17, with the JDK's HTTP client. That speaks TCP only, so it asks at the sidecar's loopback address instead of its
 * Unix socket; it keeps connections open, and any thread may use it.
 */
public final class NextId {
    private static final String ADDRESS = System.getenv().getOrDefault("NEXT_ID_HTTP", "127.0.0.1:8080");
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** As text, one a line, since the JDK has no parser for JSON. */
    public static long[] nextIds(int count) throws IOException, InterruptedException {
        var target = URI.create("http://" + ADDRESS + "/next-id?format=text&count=" + count);
        var request = HttpRequest.newBuilder(target).timeout(Duration.ofSeconds(5)).build();
        var response = CLIENT.send(request, BodyHandlers.ofString());
        if (response.statusCode() != 200) throw new IOException(response.statusCode() + " " + response.body().strip());
        return response.body().lines().mapToLong(Long::parseLong).toArray();
    }

    public static long nextId() throws IOException, InterruptedException {
        return nextIds(1)[0];
    }

    public static void main(String[] arguments) throws InterruptedException {
        try {
            System.out.println("id " + nextId());
            var ids = nextIds(3);
            System.out.println("ids " + ids[0] + " " + ids[1] + " " + ids[2]);
        } catch (IOException error) {
            System.err.println("no ID from " + ADDRESS + ": " + error);
            System.exit(1);
        }
    }
}
