package thread

import "context"

// handOver writes what an agent is told that cannot be given its native conversation.
func (l *line) handOver(context.Context) (string, error) { return "", ErrUnsupported }
