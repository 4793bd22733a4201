package model

import (
	"strconv"
	"time"

	"orchestrator/thread/pattern"
)

// marks finds all marks.
var marks = pattern.Lazy(`(?:^|\s)#(?:slow|long|fast|cut|together|after|times|withdraw|change|usage|\d{3})(?:[:x]-?[\w.]+)*\b`)

// fault is how a request should fail, from the marks in a prompt.
type fault struct {
	status int // 0: it does not fail
	times  int // 0: always
	retry  int // when the provider says that it may be asked again, in seconds; 0: it does not say
	after  int // how many calls come before
	cut    bool
	cuts   int // 0: always
	wait   time.Duration
	long   int // lines of the answer, 0: not changed
	fast   bool
	used   int // of a limit of five hours, in percent; 0: nothing is said of it
	usage  *int64
}

var (
	statusMark = pattern.Lazy(`(?:^|\s)#(4\d\d|5\d\d)(?:x(\d{1,3}))?(?::(\d{1,9}))?\b`)
	afterMark  = pattern.Lazy(`(?:^|\s)#after:(\d{1,4})\b`)
	usageMark  = pattern.Lazy(`(?:^|\s)#usage:(-?\d{1,18})\b`)
	slowMark   = pattern.Lazy(`(?:^|\s)#slow(?::(\w[\w.]*))?\b`)
	longMark   = pattern.Lazy(`(?:^|\s)#long(?::(\d{1,6}))?\b`)
	cutMark    = pattern.Lazy(`(?:^|\s)#cut(?:x(\d{1,3}))?\b`)
	fastMark   = pattern.Lazy(`(?:^|\s)#fast\b`)
	limitMark  = pattern.Lazy(`(?:^|\s)#limit:(\d{1,3})\b`)
)

const (
	slowDefault = 3 * time.Second
	slowMost    = 10 * time.Minute
	longDefault = 200
	// retryDefault is what a refusal says, in seconds.
	retryDefault = 1
)

// faults reads the marks of a prompt.
func faults(prompt string) fault {
	f := fault{fast: fastMark().MatchString(prompt)}
	if m := cutMark().FindStringSubmatch(prompt); m != nil {
		f.cut, f.cuts = true, number(m[1])
	}
	if m := statusMark().FindStringSubmatch(prompt); m != nil {
		f.status, f.times, f.retry = number(m[1]), number(m[2]), retryDefault
		if m[3] != "" {
			f.retry = number(m[3])
		}
	}
	if m := afterMark().FindStringSubmatch(prompt); m != nil {
		f.after = number(m[1])
	}
	if m := usageMark().FindStringSubmatch(prompt); m != nil {
		if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			f.usage = &n
		}
	}
	if m := limitMark().FindStringSubmatch(prompt); m != nil {
		f.used = number(m[1])
	}
	if m := slowMark().FindStringSubmatch(prompt); m != nil {
		f.wait = slowDefault
		if d, err := time.ParseDuration(m[1]); err == nil && d >= 0 {
			f.wait = min(d, slowMost)
		}
	}
	if m := longMark().FindStringSubmatch(prompt); m != nil {
		f.long = longDefault
		if m[1] != "" {
			f.long = number(m[1])
		}
	}
	return f
}
