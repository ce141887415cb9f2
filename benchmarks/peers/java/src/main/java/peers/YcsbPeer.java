package peers;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import site.ycsb.Client;
import site.ycsb.measurements.Measurements;

/**
 * YCSB's own client and core workload on `YcsbBinding`, with the keys of `ExactWorkload`.
 *
 * <p>YCSB measures from its first operation to its last. It cuts its histograms whenever its status is asked for, so
 * asking at both ends of the window makes the second interval of its logs the window. On a core full of its threads asking takes
 * a tenth of a second: how long the window was is what the logs say themselves.
 */
public final class YcsbPeer {
  private static final int WINDOW_INTERVAL = 1;
  private static final long UNIT_NS = 1000;
  private static final double NS_PER_MS = 1e6;
  private static final String ENDLESS = "1000000000";

  /** Documents of batches when the window began, and within it; the instant they were counted at, and how long it lasted. */
  private static long before;
  private static long batched;
  private static long beganNs;
  private static long batchesNs;

  private YcsbPeer() {}

  public static void main(String[] words) throws Exception {
    Arguments arguments = Arguments.parse(words);
    Path logs = Files.createTempDirectory("peers-ycsb-");
    CountDownLatch ready = YcsbBinding.readyAfter(arguments.threads());
    System.setOut(System.err);
    Thread ycsb = new Thread(() -> Client.main(commandLine(arguments, logs)));
    ycsb.setDaemon(true);
    ycsb.start();
    ready.await();
    Window.pass(arguments, YcsbPeer::cut, YcsbPeer::cut);
    report(arguments, logs);
    // YCSB has no way to be stopped from within; what is in flight is the server's to finish.
    Runtime.getRuntime().halt(0);
  }

  private static String[] commandLine(Arguments arguments, Path logs) {
    String uri = arguments.uri();
    return new String[] {
      arguments.isLoad() ? "-load" : "-t",
      "-db", YcsbBinding.class.getName(),
      "-threads", Integer.toString(arguments.threads()),
      "-p", "workload=" + ExactWorkload.class.getName(),
      "-p", "recordcount=" + (arguments.isLoad() ? ENDLESS : Integer.toString(arguments.records())),
      "-p", "operationcount=" + ENDLESS,
      "-p", "table=" + arguments.collection(),
      "-p", "readproportion=" + arguments.readShare(),
      "-p", "updateproportion=" + (1 - arguments.readShare()),
      "-p", "measurementtype=hdrhistogram",
      "-p", "hdrhistogram.fileoutput=true",
      "-p", "hdrhistogram.output.path=" + logs + "/",
      "-p", YcsbBinding.URI + "=" + uri,
      "-p", YcsbBinding.DATABASE + "=" + arguments.database(),
      "-p", YcsbBinding.BATCH + "=" + arguments.batch(),
    };
  }

  private static void cut() {
    Measurements.getMeasurements().getSummary();
    long nowNs = System.nanoTime();
    long now = YcsbBinding.batchedDocuments();
    batched = now - before;
    before = now;
    batchesNs = nowNs - beganNs;
    beganNs = nowNs;
  }

  private static void report(Arguments arguments, Path logs) throws IOException {
    Histogram done = Window.histogram();
    Histogram failed = Window.histogram();
    double perMs = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(logs, "*.hdr")) {
      for (Path file : files) {
        Histogram window = window(file);
        Files.delete(file);
        if (file.getFileName().toString().contains("-FAILED")) {
          failed.add(window);
        } else if (window.getTotalCount() > 0) {
          done.add(window);
          perMs += (double) window.getTotalCount() / (window.getEndTimeStamp() - window.getStartTimeStamp());
        }
      }
    }
    Files.delete(logs);
    // Kinds of operation are cut one after the other: the window in which all of them would have been done at their rates.
    long windowNs = perMs == 0 ? batchesNs : Math.round(done.getTotalCount() / perMs * NS_PER_MS);
    // With batches YCSB records most inserts as done before they are sent: neither a count nor a latency. What it
    // records as failed are the inserts that send: their batches are lost.
    Window.report(
        arguments.batch() == 1 ? done.getTotalCount() : batched,
        failed.getTotalCount() * arguments.batch(),
        arguments.batch() == 1 ? windowNs : batchesNs,
        arguments.batch() == 1 ? done : null,
        UNIT_NS,
        "\"ycsb\": \"" + version() + "\", " + Versions.driver("mongodb-driver-sync"));
  }

  private static Histogram window(Path file) throws IOException {
    HistogramLogReader reader = new HistogramLogReader(file.toFile());
    for (int interval = 0; ; interval++) {
      EncodableHistogram next = reader.nextIntervalHistogram();
      if (next == null) {
        return Window.histogram();
      }
      if (interval == WINDOW_INTERVAL) {
        return (Histogram) next;
      }
    }
  }

  private static String version() {
    String file = Path.of(Client.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getFileName().toString();
    return file.replaceAll("^core-|\\.jar$", "");
  }
}
