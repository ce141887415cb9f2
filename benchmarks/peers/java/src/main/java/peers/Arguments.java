package peers;

import java.util.HashMap;
import java.util.Map;

/** Owns what YCSB is told on its command line, but for the seed, which it has none of; see benchmarks/README.md for the meaning of each. */
record Arguments(
    String uri,
    String database,
    String collection,
    String workload,
    int records,
    int threads,
    int batch,
    double warmupSeconds,
    double measuredSeconds) {

  static Arguments parse(String[] words) {
    Map<String, String> given = new HashMap<>();
    for (int i = 0; i + 1 < words.length; i += 2) {
      given.put(words[i], words[i + 1]);
    }
    return new Arguments(
        given.get("--uri"),
        given.get("--database"),
        given.get("--collection"),
        given.get("--workload"),
        Integer.parseInt(given.get("--records")),
        Integer.parseInt(given.get("--threads")),
        Integer.parseInt(given.get("--batch")),
        Double.parseDouble(given.get("--warmup-s")),
        Double.parseDouble(given.get("--measured-s")));
  }

  /** The share of reads; what remains are updates. */
  double readShare() {
    return workload.equals("a") ? 0.5 : 1.0;
  }

  boolean isLoad() {
    return workload.equals("load");
  }
}
