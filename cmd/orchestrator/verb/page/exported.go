package page

// Exported is the result of export.
type Exported struct {
	Thread  string   `json:"thread"`
	File    string   `json:"file"`
	Secrets bool     `json:"secrets"` // included
	Files   bool     `json:"files"`
	Notes   []string `json:"notes,omitempty"` // what was left out
}

// About returns what is in the file that the user may not want to share.
func (e Exported) About() string {
	said := "keys and passwords of known formats are left out of the conversation (--with-secrets includes them)"
	if e.Secrets {
		said = "the conversation is included with all keys and passwords in it"
	}
	if e.Files {
		said += "; the project's files are included unchanged (--no-files leaves them out)"
	}
	return said
}
