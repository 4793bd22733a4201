package thread

// MaskSeal describes what is stored of a thread's masks, which lie in a log of their own: so that it is noticed when that is
// damaged, shorter or gone, and the mode that a person set outlives it.
type MaskSeal struct {
	Records int    `json:"records"` // of the log; it may have more, and never fewer
	Sum     string `json:"sum"`     // over them, hex
	Mode    string `json:"mode,omitempty"`
	// Lost is what was lost, for people; "" if nothing was, or they have set a mode since.
	Lost string `json:"lost,omitempty"`
}
