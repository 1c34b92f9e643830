package cli

// aboutRun is the help of run.
const aboutRun = `Run computes a scenario's ticks as fast as it can and records them. SCENARIO is the name of
one that comes with murksim, a YAML file, or - for standard input. A name that comes with
murksim never means a file; ./heat does. The recording holds everything needed to verify it.
The index beside it, which has .idx after its name, makes seek quick. Nothing depends on it:
an error in writing it is reported and does not end the run.

An older recording of the same name is replaced once the new one has ticks: about a second
after the start, or at the end if that is earlier. A run that is killed later leaves its
ticks under that name. If there is no tick, or writing fails before that, the older
recording stays, and whole ticks are kept in another file, which the error names. The same
holds for tables of hashes and saved states. While a run writes a file, others can read it,
but no other run or command can write it; the error names the process that does, if known. A
link stays a link. A file that cannot be replaced, as in a read-only folder, is overwritten
at the time when others are replaced.

Ctrl-C ends the run after the current tick, with a valid recording. That is not an
error: expectations about later ticks count as not reached, others say how far they held.
One that has already failed still fails the run. --until plans such an end.

--resume continues the recording of a run that was killed or interrupted, from its last
whole tick. The result has the same bytes as an uninterrupted run. The recording holds the
scenario, the seed and the planned ticks. All its ticks are compared again, or only those
after the last state in the index that has this user's seal: a world that remembers
something outside its state needs --no-index. With a database that run
--audit wrote, --resume continues the chain: it checks the evidence, computes the ticks
after the last snapshot again, and compares every hash. Its recording begins at that tick.

--export writes, during the run, the same bytes that export makes of the recording; it has
the flags of export. A film needs --export-scale. --stats writes statistics, one row per
tick: sum, mean, minimum and maximum of every field, entities by kind, births, deaths,
commands applied and refused, and the cells that the scenario lists as probes.
docs/EXPORT.md describes both.

--watch draws a field in the terminal, up to 30 times a second, with the total so far. For a
line or ring, each picture is one row. Drawing takes a fortieth of a processor and drops
pictures rather than slow down the run. NO_COLOR makes it draw in shades.

--view shows the run in the browser and prints the address. The run starts when the page is
open, at its tick rate. The page can hold it, set its pace and parameters, and give
commands, which are recorded like any other. After the last tick the page stays until
Ctrl-C.

--metrics serves metrics of the run to Prometheus: ticks and how long they take, hashing,
how far recorder and audit are behind, refused commands. docs/METRICS.md lists all.

A saved state holds everything that can influence a later tick. A run that starts from one
gives the same result as a run in one go, if scenario, seed and ticks are the same. Its
recording, such as heat-from-500.murk, begins at the state, and contains it if it is at most
1 MiB; otherwise verify and other commands need its file, given by --state. Expectations are
checked from there on; earlier failures belong to the earlier run. --state-hash prints the
SHA-256 of the state. The file that --save-state writes holds the state and its SHA-256;
--state refuses a file whose SHA-256 does not match.

An overflow or a division by zero halts the run before the tick takes effect; the
error says ARITHMETIC_FAULT and names tick, system, entity and column.

Exit status: 0 ok, 1 an error or a failed expectation, 2 usage, 4 a chain is not as a program of
yours has committed it, 5 halted.`
