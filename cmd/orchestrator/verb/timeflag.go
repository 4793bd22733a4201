package verb

import (
	"time"

	"github.com/spf13/pflag"

	"orchestrator/thread/ground/when"
)

// timeType is what kind of option a timeFlag is.
const timeType = "time"

// timeFlag is an option that is a point in time, as people write one.
type timeFlag struct {
	at   *time.Time
	text string
}

// timeVar defines an option that is a point in time; usage is without what can be written.
func timeVar(flags *pflag.FlagSet, at *time.Time, name, usage string) {
	flags.Var(&timeFlag{at: at}, name, usage+": 2025-01-15, yesterday, 3d")
}

// String returns what was written.
func (f *timeFlag) String() string { return f.text }

// Type says what kind of option it is.
func (f *timeFlag) Type() string { return timeType }

// Set reads a point in time.
func (f *timeFlag) Set(text string) error {
	at, err := when.Parse(text, time.Now())
	if err == nil {
		*f.at, f.text = at, text
	}
	return err
}
