// Package cluster carries out sweeps on many machines, over NATS with JetStream.
//
// A coordinator ([Run]) has the journal of a sweep and puts its jobs into a work queue. Workers ([Work]) on any
// machine take them, and put their results into a stream that the coordinator reads:
//
//	murksim_sweeps     key-value   a sweep's id → what workers must know of it ([Info])
//	MURKSIM_JOBS       work queue  murksim.jobs.ID: some jobs each, as their canonical descriptors
//	MURKSIM_RESULTS    work queue  murksim.results.ID: the rows of such
//	murksim_files      objects     recordings that are to be kept
//
// In addition there are murksim.worker.ADDRESS, requests to record a job, and murksim.note.ID, messages from workers to
// people who wait.
//
// A worker acknowledges jobs when their rows are stored. Until then it says that it is alive; when it stops doing
// so, the jobs go to another worker. So a job may run twice. Because worlds are deterministic, both rows are the
// same: the coordinator takes the first one and compares the other with it. Coordinator, workers and servers may
// each be killed and started again.
package cluster
