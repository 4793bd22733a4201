package manager

// sight is how much is seen of what a program does. It is settled at its start.
type visibility uint8

const (
	fullVisibility    visibility = iota // its requests are read, and it tells of its turns
	requestsVisible                     // its requests are read, and nothing else tells what it does
	transcriptVisible                   // it runs without the gateway: its transcript is polled
	notVisible                          // nothing tells what it answers
)

// visibilityOf is what is seen of a program that runs without the gateway or not, and that keeps a transcript or not.
func visibilityOf(direct, keepsTranscript bool) visibility {
	switch {
	case direct && keepsTranscript:
		return transcriptVisible
	case direct:
		return notVisible
	case keepsTranscript:
		return fullVisibility
	default:
		return requestsVisible
	}
}

// direct reports whether the program runs without the gateway.
func (v visibility) direct() bool { return v == transcriptVisible || v == notVisible }

// requestsAlone reports whether a request that fails is all that tells that the program has left what it was asked.
func (v visibility) requestsAlone() bool { return v == requestsVisible || v == notVisible }
