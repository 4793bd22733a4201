package thread

// Offer proposes to fork a thread, with a reason and a label, to switch on an MCP server for it, or to give back what its
// base leaves out.
type Offer struct {
	ID     string       `json:"id"`
	Thread ID           `json:"thread"`
	At     CheckpointID `json:"at"`
	Label  string       `json:"label"`
	Rule   string       `json:"rule"`
	Why    string       `json:"why"`
	Prompt string       `json:"prompt,omitempty"`
	// Server is the MCP server to switch on; empty for a fork.
	Server string `json:"server,omitempty"`
	// Lever is the name of the lever that the thread's base would no longer leave out, and Needs what asked for it, the
	// name of a tool or words of the prompt; empty for other offers.
	Lever string `json:"lever,omitempty"`
	Needs string `json:"needs,omitempty"`
	// ByAgent is set if the thread's agent brought it about, by asking for a tool: it takes no other's place.
	ByAgent bool `json:"byAgent,omitempty"`
}

// OfferFull is the rule of an offer to leave a context that is nearly full.
const OfferFull = "band"

// OfferBase is the rule of an offer to give back what a base leaves out.
const OfferBase = "base"

// Says returns what is offered for a thread whose context is so full.
func (o Offer) Says(now Gauge) string {
	switch {
	case o.Server != "":
		return "MCP server: " + o.Server
	case o.Lever != "":
		return "needs " + o.Needs + ", which its base leaves out · restart with it"
	case o.Rule == OfferFull && now.Window > 0:
		return "context " + Percent(now.Share()) + ": go on in a fresh fork"
	default:
		return "fork: " + o.Label
	}
}

// OfferMode describes what happens to fork suggestions.
type OfferMode string

// The modes.
const (
	OffersSuggest OfferMode = "suggest" // show them to clients, the default
	OffersAuto    OfferMode = "auto"    // fork automatically
	OffersOff     OfferMode = "off"
)
