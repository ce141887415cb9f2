package peers;

import com.mongodb.internal.build.MongoDriverVersion;

/** Owns the versions that stand in the result. */
final class Versions {
  private Versions() {}

  static String driver(String name) {
    return "\"" + name + "\": \"" + MongoDriverVersion.VERSION + "\"";
  }
}
