// Package store keeps the audit chain of runs in an SQL database: in a file, by SQLite, or on a server, by
// Postgres. [Open] makes the tables or brings them up to date, [OpenReader] only reads.
//
// All tables are append-only and triggers say so with errors ([ErrAppendOnly]); foreign keys make it
// impossible to insert a link or an input that does not follow the one before it; nothing is added to a halted
// run ([ErrHalted]). The owner of the database can drop all that: the proof is the audit, not the database. The
// store checks no hash but that of the genesis document.
//
// # What survives
//
// A batch is one transaction. Once Commit has returned, it survives the death of the process (SIGKILL), in
// either database. With Postgres it also survives a loss of power, as its server is set up by default. With
// SQLite it may not: the file is in WAL mode with synchronous=NORMAL, so a loss of power may cost the last
// batches, but never a part of one, and leaves the file intact.
//
// # Roles
//
// Roles belong to a whole Postgres server, and making them takes a right that the user who migrates a database often lacks. So
// migrations make none: the statements of [Roles] do, run by [DB.Grant] or by an administrator with psql. Without
// them only the owner of the tables can use them.
package store
