//go:build !linux

package callers

// sandboxVariable is as on Linux, where alone there is such a sandbox.
const sandboxVariable = "ORCHESTRATOR_TEST_SANDBOX"

func runInSandbox(string) int { return 1 }
