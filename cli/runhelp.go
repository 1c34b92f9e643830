package cli

// aboutRun is the help of run.
const aboutRun = `Run computes a scenario's ticks as fast as it can and records them. SCENARIO is
the name of one that comes with murksim, a YAML file, or - for standard input. A name
that comes with murksim never means a file; ./heat does.
The recording holds all that is needed to verify it. The index beside it, which has .idx
after its name, makes seek quick; nothing needs it, and an error in writing it is told and
ends no run.

A recording of the same name is replaced about a second after the start, or at the end
if that is earlier, when the new one has ticks. A run that is killed later leaves its
ticks under that name. If there is no tick, or writing fails before that, the older one
stays, and whole ticks lie in another file, which the error names. Tables of hashes
and saved states stay in the same way. While a run writes a file, which can be read, no
other run or command writes it; the error says which process does, where that is known.
A link stays a link. A file that cannot be replaced, such as in a folder that may not be
written, is written over at the time when others are replaced.

Ctrl-C ends the run after the current tick, with a valid recording. That is not an
error: expectations about later ticks count as not reached, others say how far they held.
One that has already failed still fails the run. --until plans such an end.

--resume goes on with the recording of a run that was killed or interrupted, from its last
whole tick, and ends with the bytes that the run would have had. The recording holds the
scenario, the seed and the ticks that are planned. All ticks that it has are compared again,
or those after the nearest state in the index with a seal of this user. With a database that
run --audit wrote, --resume goes on with the chain: it checks the evidence, computes the
ticks after the last snapshot again, and compares every hash. Its recording begins at that tick.

--export writes what export makes of the recording, byte for byte, while the run goes; its
flags are those of export. A film needs --export-scale. --stats writes what happens, a row
a tick: sum, mean, least and greatest value of every field, entities by kind, births,
deaths, commands applied and refused, and the cells that the scenario lists as probes.
docs/EXPORT.md describes both.

--watch draws a field in the terminal, up to 30 times a second, with the total so far; of
a line or ring each picture is a row. It takes a fortieth of a processor and drops pictures
rather than slow the run. NO_COLOR makes it draw in shades.

--view shows the run in the browser and prints the address. The run begins when the page is
open, at its tick rate; the page holds it, sets its pace and parameters, and gives commands,
which are recorded like any other. After the last tick the page stays until Ctrl-C.

--metrics serves Prometheus what it wants to know of the run while it goes: ticks and how
long they take, hashing, how far recorder and audit are behind, refused commands.
docs/METRICS.md lists all.

A saved state holds everything that can influence a later tick. A run that starts from
one gives the same result as a run in one go, if scenario, seed and ticks are the same. Its
recording, such as heat-from-500.murk, begins at the state, and holds it if it has 1 MiB at
most; else verify and others take its file by --state.
Expectations are looked at from there on; what failed before failed the run before.
--state-hash prints the SHA-256 of the state. The file that --save-state writes holds the
state and its SHA-256; --state refuses a file whose SHA-256 does not fit.

An overflow or a division by zero halts the run before the tick takes effect; the
error says ARITHMETIC_FAULT and names tick, system, entity and column.

Exit status: 0 ok, 1 an error or a failed expectation, 2 usage, 4 a chain is not as a program of
yours has committed it, 5 halted.`
