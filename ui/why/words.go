package why

import "orchestrator/thread"

func sourceName(s thread.Source) string {
	switch s {
	case thread.SourceProcess:
		return "the process"
	case thread.SourceGateway:
		return "the gateway"
	case thread.SourceTranscript:
		return "the transcript"
	case thread.SourceHook:
		return "the agent"
	case thread.SourceScreen:
		return "the screen"
	case thread.SourceSilence:
		return "silence"
	default:
		return string(s)
	}
}
