package plan

// Level says what a finding means.
type Level string

// The levels.
const (
	Wrong Level = "error" // the plan does not run
	Ask   Level = "ask"   // it runs once a person has agreed
	Warn  Level = "warning"
)

// Finding is something that there is to say of a plan before it runs.
type Finding struct {
	Level Level  `json:"level"`
	Agent string `json:"agent_name,omitempty"` // "" for the plan itself
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"` // what the person can do
}
