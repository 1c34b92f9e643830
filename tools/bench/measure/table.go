package measure

import "github.com/murksim/murksim/space"

// Rivals and limits, as the table names them.
const (
	cName        = "C loop"
	copyName     = "copy"
	byteName     = "byte loop"
	limitName    = "max(physics, hash/2)"
	quietName    = "not recorded"
	singleName   = "1 core"
	unforkedName = "no forks"
	workerName   = "1 worker"
)

// Units.
const (
	cellsUnit = "cells/s"
	bytesUnit = "B/s"
	ticksUnit = "ticks/s"
)

// Grids that several rows use, with edges that absorb.
var (
	big = space.Square4{Rows: 1024, Cols: 1024}
	hex = space.Hex{Cols: 512, Rows: 512}
)

// Table is everything that is measured, with its floors and aims: on one core unless
// a row says otherwise.
var Table = []Row{
	{Name: "diffusion-256", What: "diffusion, square4 256×256", Unit: cellsUnit, Versus: cName, Floor: 0.95, Aim: 1.05,
		measure: againstC(diffusion(gridRate), space.Square4{Rows: 256, Cols: 256}, step)},
	{Name: "diffusion-1024", What: "diffusion, square4 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.95, Aim: 1.05,
		measure: againstC(diffusion(gridRate), big, step)},
	{Name: "diffusion-4096", What: "diffusion, square4 4096×4096, by World.Run", Unit: cellsUnit, Versus: cName, Floor: 1, Aim: 1.5,
		measure: againstC(diffusion(gridRate), space.Square4{Rows: 4096, Cols: 4096}, runTicks)},
	{Name: "copy-4096", What: "diffusion, square4 4096×4096, by World.Run", Unit: cellsUnit, Versus: copyName, Floor: 0.8, Aim: 1.5,
		measure: againstCopy(space.Square4{Rows: 4096, Cols: 4096})},
	{Name: "hex", What: "diffusion, hex 512×512", Unit: cellsUnit, Versus: cName, Floor: 0.95, Aim: 1.05,
		measure: againstC(diffusion(gridRate), hex, step)},
	{Name: "square8", What: "diffusion, square8 512×512", Unit: cellsUnit, Versus: cName, Floor: 0.95, Aim: 1.05,
		measure: againstC(diffusion(gridRate), space.Square8{Rows: 512, Cols: 512}, step)},
	{Name: "fcc12", What: "diffusion, fcc12 96×96×96", Unit: cellsUnit, Versus: cName, Floor: 0.95, Aim: 1.05,
		measure: againstC(diffusion(gridRate), space.FCC12{W: 96, H: 96, D: 96}, step)},
	{Name: "ring", What: "diffusion, ring 262144", Unit: cellsUnit, Versus: cName, Floor: 0.95, Aim: 1.05,
		measure: againstC(diffusion(gridRate), space.Ring{Length: 1 << 18}, step)},
	{Name: "narrow-64x64x3", What: "diffusion, square4 64×64 × line 3", Unit: cellsUnit, Versus: cName, Floor: 0.6, Aim: 0.9,
		measure: againstC(diffusion(gridRate), space.Product{space.Square4{Rows: 64, Cols: 64}, space.Line{Length: 3}}, step)},
	{Name: "narrow-4096x4", What: "diffusion, line 4096 × line 4", Unit: cellsUnit, Versus: cName, Floor: 0.6, Aim: 0.9,
		measure: againstC(diffusion(gridRate), space.Product{space.Line{Length: 4096}, space.Line{Length: 4}}, step)},
	{Name: "narrow-fcc12", What: "diffusion, fcc12 32×32×32", Unit: cellsUnit, Versus: cName, Floor: 0.6, Aim: 0.9,
		measure: againstC(diffusion(gridRate), space.FCC12{W: 32, H: 32, D: 32}, step)},

	{Name: "walls", What: "diffusion, 3 % walls, square4 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(walls, big, step)},
	{Name: "walls-hex", What: "the same, hex 512×512", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(walls, hex, step)},
	{Name: "life", What: "Conway's Life, square8 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 1, Aim: 4,
		measure: againstC(life, space.Square8{Rows: 1024, Cols: 1024}, step)},
	{Name: "majority", What: "majority of two states, square8 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(majority, space.Square8{Rows: 1024, Cols: 1024}, step)},
	{Name: "majority-hex", What: "the same, hex 512×512", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(majority, hex, step)},
	{Name: "wave", What: "wave, square4 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(wave, big, step)},
	{Name: "wave-hex", What: "the same, hex 512×512", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(wave, hex, step)},
	{Name: "gray-scott", What: "Gray–Scott, square4 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(grayScott, big, step)},
	{Name: "gray-scott-hex", What: "the same, hex 512×512", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(grayScott, hex, step)},
	{Name: "resource", What: "resource, logistic, 5 % present, 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(resource, big, step)},
	{Name: "morphology", What: "dilation by 1, square4 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(morphology(1), big, step)},
	{Name: "morphology-4", What: "dilation by 4, square4 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(morphology(4), big, step)},
	{Name: "water", What: "shallow water over a bed, square4 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 2,
		measure: againstC(water, big, step)},
	{Name: "advection", What: "advection of a scalar, square4 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 2,
		measure: againstC(advection, big, step)},
	{Name: "distance", What: "distance around obstacles, square4 1024×1024", Unit: cellsUnit, Versus: cName, Floor: 0.8, Aim: 1,
		measure: againstC(distance, big, step)},

	{Name: "workers-512", What: "diffusion, square4 512×512, two workers, 2 cores", Unit: cellsUnit, Versus: workerName, Floor: 1.6, Aim: 1.9,
		Cores: 2, measure: twoWorkers},

	{Name: "profile-100", What: "the original's profile, 100×100", Unit: cellsUnit, Floor: 450e6, Aim: 1e9, measure: profile(100)},
	{Name: "profile-316", What: "the original's profile, 316×316", Unit: cellsUnit, Floor: 450e6, Aim: 1e9, measure: profile(316)},
	{Name: "profile-1000", What: "the original's profile, 1000×1000", Unit: cellsUnit, Floor: 450e6, Aim: 1e9, measure: profile(1000)},

	{Name: "hash-dense", What: "snapshot hash, 4 MiB, all tiles written, four ticks side by side", Unit: bytesUnit, Versus: byteName, Floor: 3.4, Aim: 3.8,
		measure: hashDense},
	{Name: "hash-quiet", What: "snapshot hash, 4 MiB, 5 % of the tiles written", Unit: bytesUnit, Versus: byteName, Floor: 15, Aim: 40,
		Cores: 1, measure: hashQuiet},
	{Name: "record-dense", What: "recording a dense diffusion, 1024×1024, 2 cores", Unit: "ms", Versus: limitName, Floor: 1.4, Aim: 1.2, Less: true,
		Cores: 2, measure: recordingDense},
	{Name: "record-quiet", What: "recording it with 5 % of the tiles changing, 2 cores", Unit: "ms", Versus: quietName, Floor: 1.25, Aim: 1.1, Less: true,
		Cores: 2, measure: recordingQuiet},
	{Name: "record-colony", What: "recording a run of colony: processor time", Unit: "ms", Versus: quietName, Floor: 1.4, Aim: 1.2, Less: true,
		measure: recordColony},

	{Name: "empty-tick", What: "a tick in which nothing happens", Unit: "ns", Floor: 500, Aim: 300, Less: true, measure: emptyTick},
	{Name: "small", What: "64×64, 4 agents, 2 propagators", Unit: ticksUnit, Floor: 150e3, Aim: 400e3, measure: smallTicks},
	{Name: "small-recorded", What: "the same, recorded, 2 cores", Unit: ticksUnit, Floor: 80e3, Aim: 140e3, Cores: 2, measure: smallTicksRecorded},
	{Name: "worlds", What: "1,000 worlds of 32×32, 2 cores", Unit: ticksUnit, Versus: singleName, Floor: 1.8, Aim: 1.95, Cores: 2, measure: manyWorlds},
	{Name: "fork", What: "a fork of 64×64 with 4 fields, and its release", Unit: "ns", Floor: 2000, Aim: 500, Less: true, measure: forks},
	{Name: "look-ahead", What: "100 forks of it, 20 ticks each", Unit: ticksUnit, Versus: unforkedName, Floor: 0.8, Aim: 0.95, measure: lookAhead},
	{Name: "set-field", What: "1,000 SetField commands, SubmitAll and Step", Unit: "µs", Floor: 30, Aim: 15, Less: true, measure: setFields},
	{Name: "encode", What: "encoding frames of 50 commands", Unit: bytesUnit, Floor: 2e9, Aim: 4e9, measure: encode},
	{Name: "decode", What: "decoding frames of 50 commands", Unit: bytesUnit, Floor: 1e9, Aim: 2e9, measure: decode},
	{Name: "rule-life", What: "Conway's Life as a rule, square8 1024×1024", Unit: cellsUnit, Versus: builtInName, Floor: 0.6, Aim: 0.9,
		measure: rule("square8", "{name: a, type: categorical, values: [dead, alive], initial: {choice: {values: [dead, alive]}}}",
			"{rule: {let: {n: count(a == alive)}, set: {a: if n == 3 or n == 2 and a == alive then alive else dead}}}", "{automaton: {field: a, rule: B3/S23}}")},
	{Name: "rule-diffusion", What: "diffusion as a rule, square4 1024×1024", Unit: cellsUnit, Versus: builtInName, Floor: 0.3, Aim: 0.5,
		measure: rule("square4", "{name: a, initial: {noise: {from: 0, to: 100}}}",
			"{rule: {parameters: {rate: 0.7}, set: {a: a + rate * dt * (sum(a) - degree * a)}}}", "{diffusion: {field: a, rate: 0.7}}")},
	{Name: "rule-epidemic", What: "an epidemic as a rule, square8 1024×1024", Unit: cellsUnit, Versus: numPyName, Floor: 3, Aim: 10, measure: epidemic},
	{Name: "agents-id", What: "100,000 sheep with rules, the oldest first", Unit: "entities/s", Versus: grazingName, Floor: 0.55, Aim: 1.15, measure: agents("id")},
	{Name: "agents-random", What: "the same, in random order", Unit: "entities/s", Versus: grazingName, Floor: 0.45, Aim: 0.7, measure: agents("random")},
	{Name: "normals", What: "noise: a normal number a cell", Unit: cellsUnit, Floor: 100e6, Aim: 250e6, measure: normals},

	{Name: "real-time", What: "1 kHz, 100×100, 4 propagators, recorded: 99th percentile of lateness", Unit: "ms", Floor: 1, Aim: 1, Less: true,
		measure: realTime(true, lateness)},
	{Name: "real-time-memory", What: "the same: memory", Unit: "MiB", Floor: 64, Aim: 64, Less: true, measure: realTime(false, memory)},
}
