// Package recording makes what a thread's agent answers durable: an answer that came through the gateway, or was read
// from the agent's transcript, becomes a checkpoint with the prompts that it is about, and the end of a turn one with
// the files. What the store refuses is tried again until it takes it, and kept in the spool meanwhile.
//
// A Recorder does that for one thread. It knows nothing of the thread but what the ports Live and Prompts tell it, and
// tells what it did through Reports alone.
package recording
