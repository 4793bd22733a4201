// Package failpoint names the places where a crash would hurt.
//
// Code that writes in several steps calls Hit between them. A Hit does nothing, at the cost of one load, unless the
// process was armed. Then the environment variable ORCHESTRATOR_FAILPOINT selects one place:
//
//	ORCHESTRATOR_FAILPOINT=snapshot.take.tree      kill -9 of this process at the first hit
//	ORCHESTRATOR_FAILPOINT=snapshot.take.tree:3    … at the third
//	ORCHESTRATOR_FAILPOINT_TRACE=/path             append the name of every place that is passed, one per line
//
// The variables alone arm nothing: a process reads them in Arm, which only the programs of tests call, or in Main if
// the linker was given Linker, which only the tests of the assembled program do. A released program reads neither.
//
// A process killed by a failpoint runs no deferred function and flushes nothing, as in a power cut that keeps the page
// cache. The package guarantees only that; the tests of its users show that the remains can be repaired. Names are
// `package.operation.step`, lower case, and stay stable because kill tests list them.
package failpoint
