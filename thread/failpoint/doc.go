// Package failpoint names the places where a crash would hurt.
//
// Code that writes in several steps calls Hit between them. In a normal build Hit is empty and costs nothing. In a
// build with the tag "failpoint" the environment variable ORCHESTRATOR_FAILPOINT selects one place:
//
//	ORCHESTRATOR_FAILPOINT=snapshot.take.tree      kill -9 of this process at the first hit
//	ORCHESTRATOR_FAILPOINT=snapshot.take.tree:3    … at the third
//	ORCHESTRATOR_FAILPOINT_TRACE=/path             append the name of every place that is passed, one per line
//
// A process killed by a failpoint runs no deferred function and flushes nothing, as in a power cut that keeps the page
// cache. The package guarantees only that; the tests of its users show that the remains can be repaired. Names are
// `package.operation.step`, lower case, and stay stable because kill tests list them.
package failpoint
