// Package hook forwards the report of an agent's hook to the gateway, before the rest of the program is initialised.
//
// Agents run `orchestrator hook <event>` several times per turn and wait for it, so the process should cost little more
// than an empty program that opens a connection. Hence two unusual choices. The work is done during package
// initialisation: Go initialises packages in the order of their imports and, if several are ready, of their paths, and
// this one has so few dependencies that it comes before nearly all others. And it uses the socket directly, because
// net/http and net would have to be initialised first.
//
// Everything else (flags, help, a wrong number of arguments, a missing address) is left to the verb `hook`, which also
// calls [Report].
package hook
