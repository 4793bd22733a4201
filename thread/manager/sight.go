package manager

// sight is how much is seen of what a program does. It is settled at its start.
type sight uint8

const (
	sightGateway    sight = iota // its requests are read, and it tells of its turns
	sightRequests                // its requests are read, and nothing else tells what it does
	sightTranscript              // it runs without the gateway: its transcript is polled
	sightNone                    // nothing tells what it answers
)

// sightOf is what is seen of a program that runs without the gateway or not, and that keeps a transcript or not.
func sightOf(direct, keepsTranscript bool) sight {
	switch {
	case direct && keepsTranscript:
		return sightTranscript
	case direct:
		return sightNone
	case keepsTranscript:
		return sightGateway
	default:
		return sightRequests
	}
}

// direct reports whether the program runs without the gateway.
func (s sight) direct() bool { return s == sightTranscript || s == sightNone }

// requestsAlone reports whether a request that fails is all that tells that the program has left what it was asked.
func (s sight) requestsAlone() bool { return s == sightRequests || s == sightNone }
