// Package recording makes the answers of a thread's agent durable. An answer that came through the gateway, or was read
// from the agent's transcript, becomes a checkpoint, together with the prompts that it is about; the end of a turn
// becomes one with a snapshot of the files. What the store refuses is retried until the store accepts it, and kept in
// the spool meanwhile.
//
// A Recorder does this for one thread. It knows about the thread only what the ports Live and Prompts tell, and reports
// what it did through the one interface Reports.
package recording
