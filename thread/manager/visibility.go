package manager

// visibility is how much is known about what a program does. It is fixed at its start.
type visibility uint8

const (
	fullVisibility    visibility = iota // its requests are read, and its turns are reported
	requestsVisible                     // only its requests are read
	transcriptVisible                   // it runs without the gateway: its transcript is polled
	notVisible                          // its answers are not reported
)

// visibilityOf returns the visibility of a program that runs with or without the gateway, and keeps a transcript or
// not.
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

// requestsAlone reports whether a failed request is the only sign that the program gave up a prompt.
func (v visibility) requestsAlone() bool { return v == requestsVisible || v == notVisible }
