package peers;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.bson.Document;
import org.bson.conversions.Bson;

/** The official blocking driver: as many threads as connections, each in a plain loop. */
public final class BlockingPeer {
  private static final InsertManyOptions UNORDERED = new InsertManyOptions().ordered(false);

  private BlockingPeer() {}

  public static void main(String[] words) throws Exception {
    Arguments arguments = Arguments.parse(words);
    Records records = new Records(arguments.records());
    Window window = new Window();
    List<Tally> tallies = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    try (MongoClient client = MongoClients.create(arguments.uri())) {
      MongoCollection<Document> collection =
          client.getDatabase(arguments.database()).getCollection(arguments.collection());
      collection.find(Filters.eq("_id", "")).first();
      for (int i = 0; i < arguments.threads(); i++) {
        Tally tally = new Tally(window);
        SplittableRandom random = new SplittableRandom(arguments.seed() + i);
        tallies.add(tally);
        threads.add(new Thread(() -> loop(arguments, records, collection, random, window, tally)));
      }
      threads.forEach(Thread::start);
      long windowNs = window.pass(arguments, () -> {}, () -> {});
      for (Thread thread : threads) {
        thread.join();
      }
      Tally.report(tallies, windowNs, Versions.driver("mongodb-driver-sync"));
    }
  }

  private static void loop(
      Arguments arguments,
      Records records,
      MongoCollection<Document> collection,
      SplittableRandom random,
      Window window,
      Tally tally) {
    while (window.open()) {
      BooleanSupplier command = draw(arguments, records, collection, random);
      long sentNs = System.nanoTime();
      boolean done;
      try {
        done = command.getAsBoolean();
      } catch (MongoException error) {
        done = false;
      }
      tally.note(sentNs, arguments.batch(), done);
    }
  }

  /** The next command, its key chosen and its documents built; says whether it found or wrote what it was meant to. */
  private static BooleanSupplier draw(
      Arguments arguments, Records records, MongoCollection<Document> collection, SplittableRandom random) {
    if (arguments.isLoad() && arguments.batch() > 1) {
      List<Document> documents = records.next(random, arguments.batch());
      return () -> collection.insertMany(documents, UNORDERED).wasAcknowledged();
    }
    if (arguments.isLoad()) {
      Document document = records.next(random);
      return () -> collection.insertOne(document).wasAcknowledged();
    }
    boolean reads = random.nextDouble() < arguments.readShare();
    Bson key = Filters.eq("_id", records.choose(random));
    if (reads) {
      return () -> collection.find(key).first() != null;
    }
    Document change = records.change(random);
    return () -> collection.updateOne(key, change).getMatchedCount() == 1;
  }
}
