package peers;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.bson.Document;
import org.bson.types.Binary;

/** Owns which record an operation takes and what is written: YCSB's keys and documents, exact zipfian popularity. */
final class Records {
  private static final double THETA = 0.99;
  private static final int FIELD_COUNT = 10;
  private static final int FIELD_LENGTH = 100;
  private static final long SCATTER = 2_654_435_761L;
  private static final long FNV_OFFSET = 0xCBF29CE484222325L;
  private static final long FNV_PRIME = 1_099_511_628_211L;

  private final double[] cumulative;
  private final AtomicLong inserted = new AtomicLong();

  Records(int count) {
    cumulative = new double[count];
    double sum = 0;
    for (int rank = 0; rank < count; rank++) {
      sum += Math.pow(rank + 1, -THETA);
      cumulative[rank] = sum;
    }
  }

  /** The key of a loaded record, the popular ones more often. */
  String choose(RandomGenerator random) {
    return key(number(random));
  }

  /** The number of a loaded record, the popular ones more often. */
  long number(RandomGenerator random) {
    double wanted = random.nextDouble() * cumulative[cumulative.length - 1];
    int found = java.util.Arrays.binarySearch(cumulative, wanted);
    int rank = Math.min(found < 0 ? -found - 1 : found, cumulative.length - 1);
    return rank * SCATTER % cumulative.length;
  }

  /** One field with a new value. */
  Document change(SplittableRandom random) {
    return new Document("$set", new Document("field" + random.nextInt(FIELD_COUNT), value(random)));
  }

  /** The next record of a load. */
  Document next(SplittableRandom random) {
    Document document = new Document("_id", key(inserted.getAndIncrement()));
    for (int field = 0; field < FIELD_COUNT; field++) {
      document.append("field" + field, value(random));
    }
    return document;
  }

  /** The next records of a load. */
  List<Document> next(SplittableRandom random, int count) {
    List<Document> documents = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      documents.add(next(random));
    }
    return documents;
  }

  private static Binary value(SplittableRandom random) {
    byte[] bytes = new byte[FIELD_LENGTH];
    random.nextBytes(bytes);
    return new Binary(bytes);
  }

  /** YCSB's hashed key: FNV-1a over the eight bytes of the record's number, lowest first. */
  private static String key(long number) {
    long hash = FNV_OFFSET;
    for (int i = 0; i < 8; i++) {
      hash = (hash ^ (number & 0xFF)) * FNV_PRIME;
      number >>= 8;
    }
    return "user" + Math.abs(hash);
  }
}
