package runner;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.Document;

/** Sessions that had transactions. They end with the runner: one that stays open would keep its locks for a minute. */
final class Sessions {
    /** How long the server may take to end them. */
    static final long END_WITHIN_MS = 1_000;
    /** How long what is under way is waited for: a transaction that begins after the end would stay. */
    private static final long UNDER_WAY_WITHIN_MS = 500;

    private final List<BsonDocument> ids = new ArrayList<>();
    private boolean isOver;
    private int underWay;

    synchronized void add(BsonDocument id) {
        ids.add(id);
    }

    /** Whether a command may begin; if so, {@link #leave} follows it. */
    synchronized boolean enters() {
        underWay += isOver ? 0 : 1;
        return !isOver;
    }

    synchronized void leave() {
        underWay--;
        notifyAll();
    }

    /** No command begins any more; the command that ends the sessions, or null where there are none. */
    synchronized Document end() {
        isOver = true;
        long until = System.currentTimeMillis() + UNDER_WAY_WITHIN_MS;
        for (long left = UNDER_WAY_WITHIN_MS; !ids.isEmpty() && underWay > 0 && left > 0; ) {
            try {
                wait(left);
            } catch (InterruptedException ended) {
                break;
            }
            left = until - System.currentTimeMillis();
        }
        return ids.isEmpty() ? null : new Document("killSessions", ids);
    }
}
