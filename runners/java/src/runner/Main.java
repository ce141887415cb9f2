package runner;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.Document;

/** Speaks with the engine until it says that it is enough, or is gone. */
final class Main {
    private static final long VERSION = 1;
    private static final long AHEAD_NS = 300_000;

    private static final Logger LOGGER = Logger.getLogger("org.mongodb.driver");

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        // Without a logging library the driver says once that it has none.
        LOGGER.setLevel(Level.OFF);
        Frames frames = new Frames();
        Use use = new Use();
        ByteBuffer first = frames.next();
        if (first == null || first.get() != Frames.OPEN) {
            Runtime.getRuntime().halt(0);
        }
        Client client;
        try {
            client = open(arguments[0], Frames.document(first), use, frames);
        } catch (RuntimeException | LinkageError error) {
            frames.send(Frames.FAILED, Done.words(error));
            Runtime.getRuntime().halt(0);
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(client::end));
        frames.send(Frames.READY, ready(arguments[0], client));
        for (ByteBuffer frame = frames.next(); frame != null; frame = frames.next()) {
            switch (frame.get()) {
                case Frames.COMMAND -> client.take(new Command(frame));
                case Frames.CLOCK -> frames.sendClock(frame.getInt(), System.nanoTime());
                case Frames.USE -> frames.send(Frames.USED, use.now());
                default -> {
                    client.end();
                    client.close();
                    Runtime.getRuntime().halt(0);
                }
            }
        }
        client.end();
        Runtime.getRuntime().halt(0);
    }

    private static Client open(String kind, Document said, Use use, Frames frames) {
        if (kind.equals("jdbc")) {
            return new Jdbc(said, use, frames);
        }
        ConnectionString address = new ConnectionString(said.getString("uri"));
        Map<String, String> options = options(said.getString("uri"));
        int timeoutMs = said.get("operation_timeout_ms", Number.class).intValue();
        int workers = said.get("workers", Number.class).intValue();
        MongoClientSettings settings = MongoClientSettings.builder()
                .applyConnectionString(address)
                .applyToSslSettings(tls -> {
                    if (options.containsKey("tls")) {
                        tls.context(Certificates.context(options));
                    }
                })
                .applyToSocketSettings(sockets -> sockets.readTimeout(timeoutMs, TimeUnit.MILLISECONDS))
                .applyToConnectionPoolSettings(pool -> pool.addConnectionPoolListener(use))
                .build();
        return kind.equals("reactive") ? new Reactive(settings, frames, workers) : new Sync(settings, frames, workers);
    }

    /** What stands behind the question mark of an address, which the engine writes. */
    static Map<String, String> options(String uri) {
        Map<String, String> found = new HashMap<>();
        for (String option : uri.substring(uri.indexOf('?') + 1).split("&")) {
            int at = option.indexOf('=');
            found.put(option.substring(0, at), URLDecoder.decode(option.substring(at + 1), StandardCharsets.UTF_8));
        }
        return found;
    }

    private static BsonDocument ready(String kind, Client client) {
        return new BsonDocument("version", new BsonInt64(VERSION))
                .append("client", new BsonString(kind.equals("jdbc") ? kind : "java-" + kind))
                .append("driver", new BsonString(client.driver()))
                .append("driver_version", new BsonString(client.version()))
                .append("runtime", new BsonString(System.getProperty("java.vm.name")))
                .append("runtime_version", new BsonString(Runtime.version().toString()))
                .append("ahead_ns", new BsonInt64(AHEAD_NS));
    }
}
