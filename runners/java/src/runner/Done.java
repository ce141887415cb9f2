package runner;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.MongoWriteConcernException;
import com.mongodb.MongoWriteException;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.bulk.WriteConcernError;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

/** What became of a command: the server's reply or what stands for it, and how many documents came. */
record Done(int outcome, BsonDocument body, int documents) {
    static final int ANSWERED = 0;
    static final int LOST = 1;
    static final int TIMED_OUT = 2;
    static final int NO_CONNECTION = 3;
    static final int REFUSED = 4;

    static Done answered(BsonDocument reply) {
        return new Done(ANSWERED, reply, 0);
    }

    static BsonDocument ok() {
        return new BsonDocument("ok", new BsonInt32(1));
    }

    static BsonDocument ok(long n) {
        return ok().append("n", number(n));
    }

    static BsonInt32 number(long count) {
        return new BsonInt32((int) Math.min(count, Integer.MAX_VALUE));
    }

    /** What an error of the driver's amounts to. */
    static Done of(Throwable error) {
        if (error instanceof MongoBulkWriteException bulk) {
            return ofBulk(bulk);
        }
        if (error instanceof MongoWriteException write) {
            BsonArray errors = new BsonArray();
            errors.add(writeError(0, write.getError().getCode(), write.getError().getMessage()));
            return answered(ok(0).append("writeErrors", errors));
        }
        if (error instanceof MongoWriteConcernException concern) {
            return answered(ok(1).append("writeConcernError", concernError(concern.getWriteConcernError())));
        }
        if (error instanceof MongoCommandException command) {
            BsonDocument said = command.getResponse().clone();
            said.put("ok", new BsonInt32(0));
            return answered(said);
        }
        if (error instanceof MongoSocketReadTimeoutException) {
            return new Done(TIMED_OUT, words(error), 0);
        }
        if (error instanceof MongoSocketException || error instanceof MongoConnectionPoolClearedException) {
            return new Done(LOST, words(error), 0);
        }
        if (error instanceof MongoTimeoutException) {
            // The driver has one class for a server that isn't there and for a pool that is empty.
            boolean ofPool = error.getClass() != MongoTimeoutException.class || String.valueOf(error.getMessage()).contains("pool");
            return new Done(ofPool ? NO_CONNECTION : LOST, words(error), 0);
        }
        if (error instanceof MongoException mongo && mongo.getCode() > 0) {
            BsonDocument reply = new BsonDocument("ok", new BsonInt32(0)).append("code", new BsonInt32(mongo.getCode()));
            BsonArray labels = new BsonArray();
            mongo.getErrorLabels().forEach(label -> labels.add(new BsonString(label)));
            return answered(reply.append("errmsg", new BsonString(mongo.getMessage())).append("errorLabels", labels));
        }
        return new Done(REFUSED, words(error), 0);
    }

    private static Done ofBulk(MongoBulkWriteException bulk) {
        BulkWriteResult result = bulk.getWriteResult();
        BsonArray errors = new BsonArray();
        bulk.getWriteErrors().forEach(each -> errors.add(writeError(each.getIndex(), each.getCode(), each.getMessage())));
        int n = result.getInsertedCount() + result.getMatchedCount() + result.getDeletedCount() + result.getUpserts().size();
        BsonDocument reply = ok(n);
        if (!errors.isEmpty()) {
            reply.append("writeErrors", errors);
        }
        if (bulk.getWriteConcernError() != null) {
            reply.append("writeConcernError", concernError(bulk.getWriteConcernError()));
        }
        return answered(reply);
    }

    private static BsonDocument writeError(int index, int code, String message) {
        return new BsonDocument("index", new BsonInt32(index))
                .append("code", new BsonInt32(code))
                .append("errmsg", new BsonString(message));
    }

    private static BsonDocument concernError(WriteConcernError error) {
        return new BsonDocument("code", new BsonInt32(error.getCode()))
                .append("codeName", new BsonString(String.valueOf(error.getCodeName())))
                .append("errmsg", new BsonString(error.getMessage()));
    }

    /** What an error came of in the end. */
    static Throwable root(Throwable error) {
        Throwable root = error;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root;
    }

    static BsonDocument words(Throwable error) {
        return new BsonDocument("message", new BsonString(String.valueOf(error.getMessage())))
                .append("label", new BsonString(error.getClass().getSimpleName()));
    }
}
