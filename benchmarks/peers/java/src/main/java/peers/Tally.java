package peers;

import java.util.Collection;
import org.HdrHistogram.Histogram;

/** Owns what one sequence of operations did within the window. Used by one thread at a time. */
final class Tally {
  private final Window window;
  private final Histogram latencies = Window.histogram();
  private long operations;
  private long failed;

  Tally(Window window) {
    this.window = window;
  }

  /**
   * Counts one command if it ended within the window: as done, or as failed, which it is too when it found nothing; one
   * that failed with all its documents.
   */
  void note(long sentNs, int documents, boolean done) {
    if (!window.measuring()) {
      return;
    }
    if (done) {
      latencies.recordValue(System.nanoTime() - sentNs);
      operations += documents;
    } else {
      failed += documents;
    }
  }

  static void report(Collection<Tally> tallies, long windowNs, String versions) throws java.io.IOException {
    Histogram all = Window.histogram();
    tallies.forEach(tally -> all.add(tally.latencies));
    long operations = tallies.stream().mapToLong(tally -> tally.operations).sum();
    long failed = tallies.stream().mapToLong(tally -> tally.failed).sum();
    Window.report(operations, failed, windowNs, all, 1, versions);
  }
}
