// Package agenttest is one suite over all adapters of coding agents: what every thread.Agent must
// do and must never do, with or without the real program. Each adapter's own tests call Run with a
// Subject that knows the adapter's file format.
//
// Checked are launches from a table of specs with hostile names in them, that nothing but the state
// folder is written, that the person's settings are left alone, that no secret stands in the
// arguments where it can be avoided, that transcripts are read over files cut anywhere, and that
// sessions can be rebuilt and forked without harm to others.
package agenttest
