// Runs a WASI program under Node with this computer's files: node wasi.mjs PROGRAM ARGUMENTS...
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const wasi = new WASI({
	version: "preview1",
	args: process.argv.slice(2),
	env: { PWD: process.cwd() },
	preopens: { "/": "/" },
	returnOnExit: true,
});
const program = await WebAssembly.compile(await readFile(process.argv[2]));
process.exitCode = wasi.start(await WebAssembly.instantiate(program, { wasi_snapshot_preview1: wasi.wasiImport }));
