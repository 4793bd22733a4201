// Package failpoint names the places where a crash would hurt.
//
// Code that writes in several steps calls Hit between them. In a normal build Hit is empty and costs nothing.
// In a build with the tag "failpoint" the environment variable ORCHESTRATOR_FAILPOINT picks one place:
//
//	ORCHESTRATOR_FAILPOINT=snapshot.take.tree      kill -9 of this process at the first hit
//	ORCHESTRATOR_FAILPOINT=snapshot.take.tree:3    … at the third
//	ORCHESTRATOR_FAILPOINT_TRACE=/path             append the name of every place that is passed, one a line
//
// A process that a failpoint kills runs no deferred function and flushes nothing, as after a power cut less the
// lost page cache. The package guarantees only that; that what is left can be repaired is for the tests of its
// users to show. Names are `package.operation.step`, lower case, and stay stable because kill tests list them.
package failpoint
