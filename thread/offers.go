package thread

import "context"

// offers is what is known of fork suggestions; guarded by Manager.mu.
type offers struct {
	mode OfferMode
}

// AnswerOffer answers a fork suggestion: "take", "dismiss" or "off".
func (m *Manager) AnswerOffer(context.Context, string, string) (Status, error) {
	return Status{}, ErrUnsupported
}
