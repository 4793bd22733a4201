// Package hub runs the servers that threads use, each once for all that may share it.
//
// A server is started by the first call that needs it. It is restarted when it ends, does not answer or hangs, at a rate
// that is bounded, and stopped when nobody calls it. Its state never changes what it is listed with. A call that was
// written and whose response is not known is not repeated, unless its server is trusted and calls it repeatable.
package hub
