"""Owns the comparison with other load generators: same work, same server, alternating, each on a core of its own.

options       the command line
settings      what is measured, how long, on which cores
catalogue     the peers and how each is started
builds        making their programs with Maven, Cargo and Go
protocol      what a client in Python is told, and how it speaks with the runner
processes     one client process: pinned, followed, ended; CPU time and memory of it
server        the mongod under all of them: data, counters, profiler
ready_memory  free memory that has been used once, so that no client pays for its first use
machine       what is said about the machine
commands      pure: what the profiler saw, in words
measuring     one run of one client
rounds        pure: who runs after whom
figures       pure: medians, ratios, spreads
targets       pure: what the ratios have to be
results       results.json: its form, written and read
page          pure: BENCHMARKS.md from the results
"""
