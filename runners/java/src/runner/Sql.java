package runner;

import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** A statement as JDBC takes it: its parameters are question marks, whatever the server calls them. */
final class Sql {
    final String text;

    /** For each question mark, from 0, which of the values it takes. */
    final int[] order;

    /** Whether it begins a transaction. */
    final boolean begins;

    /** Whether it ends one. */
    final boolean ends;

    /** Whether rows that it brings are rows that it wrote. */
    final boolean writes;

    private final StringBuilder out = new StringBuilder();
    private int[] found = new int[8];
    private int count;

    Sql(String given, boolean isPostgres) {
        String verb = given.strip().split("[^A-Za-z]", 2)[0].toUpperCase(Locale.ROOT);
        begins = verb.equals("BEGIN") || verb.equals("START");
        ends = verb.equals("COMMIT") || verb.equals("ROLLBACK");
        writes = List.of("INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE").contains(verb);
        scan(given, isPostgres);
        text = out.toString();
        order = java.util.Arrays.copyOf(found, count);
    }

    /** The same with the rows behind it that its last word, VALUES, calls for. */
    String withRows(List<?> rows) {
        StringBuilder all = new StringBuilder(text);
        String separator = " ";
        for (Object row : rows) {
            String marks = String.join(",", Collections.nCopies(((List<?>) row).size(), "?"));
            all.append(separator).append('(').append(marks).append(')');
            separator = ",";
        }
        return all.toString();
    }

    private void scan(String given, boolean isPostgres) {
        int at = 0;
        while (at < given.length()) {
            char here = given.charAt(at);
            int end = at + 1;
            if (here == '\'' || here == '"' || here == '`') {
                boolean escapes = here == '\'' && at > 0 && "Ee".indexOf(given.charAt(at - 1)) >= 0;
                end = endOfQuoted(given, at, escapes);
            } else if (given.startsWith("--", at) || here == '#' && !isPostgres) {
                int line = given.indexOf('\n', at);
                end = line < 0 ? given.length() : line;
            } else if (given.startsWith("/*", at)) {
                end = endOfComment(given, at, isPostgres);
            } else if (here == '?') {
                if (isPostgres) {
                    out.append('?'); // an operator: doubled, it is none of JDBC's
                } else {
                    take(count);
                }
            } else if (here == '$' && isPostgres && (at == 0 || !isOfName(given.charAt(at - 1)))) {
                while (end < given.length() && isOfName(given.charAt(end))) {
                    end++;
                }
                String name = given.substring(at + 1, end);
                if (!name.isEmpty() && name.chars().allMatch(Character::isDigit)) {
                    take(Integer.parseInt(name) - 1);
                    out.append('?');
                    at = end;
                    continue;
                }
                if (end < given.length() && given.charAt(end) == '$') {
                    String mark = given.substring(at, end + 1);
                    int close = given.indexOf(mark, end + 1);
                    end = close < 0 ? given.length() : close + mark.length();
                }
            }
            out.append(given, at, end);
            at = end;
        }
    }

    private void take(int value) {
        if (count == found.length) {
            found = java.util.Arrays.copyOf(found, 2 * count);
        }
        found[count++] = value;
    }

    private static boolean isOfName(char letter) {
        return Character.isLetterOrDigit(letter) || letter == '_';
    }

    private static int endOfQuoted(String given, int start, boolean escapes) {
        char quote = given.charAt(start);
        for (int at = start + 1; at < given.length(); at++) {
            if (escapes && given.charAt(at) == '\\') {
                at++;
            } else if (given.charAt(at) == quote) {
                return at + 1;
            }
        }
        return given.length();
    }

    private static int endOfComment(String given, int start, boolean nests) {
        int depth = 1;
        int at = start + 2;
        while (at < given.length() && depth > 0) {
            if (given.startsWith("*/", at)) {
                depth--;
                at += 2;
            } else if (nests && given.startsWith("/*", at)) {
                depth++;
                at += 2;
            } else {
                at++;
            }
        }
        return at;
    }
}
