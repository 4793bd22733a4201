// Package agenttest is one suite over all adapters of coding agents: what every thread.Agent must do and must never do,
// with or without the real program. Each adapter's own tests call Run with a Subject that knows the adapter's file
// format.
//
// The suite launches agents by a table of specs with hostile names in them. It checks that nothing but the state folder
// is written, that the person's settings are left alone, that no secret is in the arguments where it can be avoided,
// that transcripts are read from files that are cut anywhere, and that sessions are rebuilt and forked without harm to
// others.
package agenttest
