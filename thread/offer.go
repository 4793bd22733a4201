package thread

// Offer proposes to fork a thread: why, and with which label.
type Offer struct {
	ID     string       `json:"id"`
	Thread ID           `json:"thread"`
	At     CheckpointID `json:"at"`
	Label  string       `json:"label"`
	Rule   string       `json:"rule"`
	Why    string       `json:"why"`
	Prompt string       `json:"prompt,omitempty"`
}

// OfferMode says what becomes of a fork suggestion.
type OfferMode string

// The modes.
const (
	OffersSuggest OfferMode = "suggest" // tell the clients, the default
	OffersAuto    OfferMode = "auto"    // fork by ourselves
	OffersOff     OfferMode = "off"
)
