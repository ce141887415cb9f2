package runner;

import com.mongodb.ReadConcern;
import com.mongodb.ReadConcernLevel;
import com.mongodb.WriteConcern;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.bson.Document;

/** A command as it came, and what it says of its transaction. */
final class Command {
    final int place;
    final int number;
    final long dueNs;
    final boolean wantsDocuments;
    final Document body;
    final String name;
    final boolean begins;
    final boolean isInside;
    final ReadConcern readConcern;
    final WriteConcern writeConcern;

    Command(ByteBuffer content) {
        place = content.getInt();
        number = content.getInt();
        dueNs = content.getLong();
        wantsDocuments = (content.get() & 1) != 0;
        body = Frames.document(content);
        name = body.keySet().iterator().next();
        begins = Boolean.TRUE.equals(body.remove("startTransaction"));
        isInside = body.remove("autocommit") != null;
        body.remove("lsid");
        body.remove("txnNumber");
        readConcern = readConcern((Document) body.remove("readConcern"));
        writeConcern = writeConcern((Document) body.remove("writeConcern"));
    }

    /** Waits until it is due. */
    void awaitDue() {
        for (long now = System.nanoTime(); dueNs != 0 && now < dueNs; now = System.nanoTime()) {
            LockSupport.parkNanos(dueNs - now);
        }
    }

    private static ReadConcern readConcern(Document said) {
        return said == null ? null : new ReadConcern(ReadConcernLevel.fromString(said.getString("level")));
    }

    private static WriteConcern writeConcern(Document said) {
        if (said == null) {
            return null;
        }
        Object w = said.get("w");
        WriteConcern concern =
                w instanceof String tag ? new WriteConcern(tag) : new WriteConcern(w == null ? 1 : ((Number) w).intValue());
        if (said.get("j") instanceof Boolean journal) {
            concern = concern.withJournal(journal);
        }
        if (said.get("wtimeout") instanceof Number timeout) {
            concern = concern.withWTimeout(timeout.longValue(), TimeUnit.MILLISECONDS);
        }
        return concern;
    }
}
