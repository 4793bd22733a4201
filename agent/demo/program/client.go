package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"orchestrator/agent/demo/record"
)

const (
	// retries is how often a request is sent again after a temporary refusal, unless the command line says.
	retries = 3
	// longestWait is the longest Retry-After that is respected.
	longestWait = 10 * time.Second
	// maxEvent is the longest line of a stream.
	maxEvent = 16 << 20
	maxOut   = 8192 // tokens of an answer
)

// system is the model's instruction.
const system = `You are the demo agent of orchestrator, a small coding agent in a terminal. ` +
	`You work in one folder, by tools: list files, read them, write and change them, run commands, ask the person. ` +
	`Say briefly what you are about to do, use a tool where one is needed, and answer from what it returned.`

// client talks to a Messages API.
type client struct {
	http    *http.Client
	base    string
	key     string
	model   string
	session string
	parent  string // the session of who started it, "" for none
	system  string // the model's instructions
	retries int
	// wait is called before a request is sent again.
	wait func(why string)
}

// statusError is a refused request.
type statusError struct {
	status int
	text   string
	after  time.Duration
}

func (e *statusError) Error() string { return fmt.Sprintf("%d %s", e.status, e.text) }

// answer is a model's response.
type answer struct {
	message record.Message
	stop    string
	usage   record.Usage
}

// ask sends a conversation, offering tools, and returns the answer; each is called with its text as it arrives.
func (c *client) ask(
	ctx context.Context, messages []json.RawMessage, tools []definition, each func(text string),
) (answer, error) {
	request := map[string]any{
		"model": c.model, "max_tokens": maxOut, "stream": true, "messages": messages,
		"system": []any{
			map[string]any{"type": "text", "text": c.system, "cache_control": map[string]any{"type": "ephemeral"}},
		},
		"metadata": map[string]any{"user_id": fmt.Sprintf(`{"session_id":%q}`, c.session)},
	}
	if len(tools) > 0 {
		request["tools"] = tools
	}
	body, err := json.Marshal(request)
	if err != nil {
		return answer{}, fmt.Errorf("encode request: %w", err)
	}
	for try := 0; ; try++ {
		started := false
		a, err := c.once(ctx, body, func(text string) { started = true; each(text) })
		var status *statusError
		switch {
		case err == nil, ctx.Err() != nil, try >= c.retries, started && try > 0:
			return a, err
		case errors.As(err, &status) && status.status != http.StatusTooManyRequests && status.status < 500:
			return a, err
		}
		pause := 500 * time.Millisecond << try
		if status != nil && status.after > 0 {
			pause = min(status.after, longestWait)
		}
		c.wait(fmt.Sprintf("%v; trying again in %s", err, pause))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return a, ctx.Err()
		}
	}
}

// once sends one request.
func (c *client) once(ctx context.Context, body []byte, each func(string)) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("ask the model: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", c.key)
	req.Header.Set("X-Session-Id", c.session)
	if c.parent != "" {
		req.Header.Set("X-Parent-Session-Id", c.parent)
	}
	req.Header.Set("User-Agent", "orchestrator-demo")
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("ask the model: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return answer{}, refusal(resp)
	}
	return readStream(resp.Body, each)
}

func refusal(resp *http.Response) error {
	var e struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	text := resp.Status
	if json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&e) == nil && e.Error.Message != "" {
		text = e.Error.Type + ": " + e.Error.Message
	}
	s := &statusError{status: resp.StatusCode, text: plain(text)}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		s.after = time.Duration(n) * time.Second
	}
	return s
}

// event is the part of a stream's event that is read.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage record.Usage `json:"usage"`
	} `json:"message"`
	Block record.Block `json:"content_block"`
	Delta struct {
		Text    string `json:"text"`
		Partial string `json:"partial_json"`
		Stop    string `json:"stop_reason"`
	} `json:"delta"`
	Usage *record.Usage `json:"usage"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// readStream assembles an answer. An incomplete answer is an error.
func readStream(r io.Reader, each func(string)) (answer, error) {
	a := answer{message: record.Message{Role: "assistant"}}
	var inputs []string
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 16<<10), maxEvent)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return a, fmt.Errorf("read the answer: %w", err)
		}
		switch e.Type {
		case "message_start":
			a.usage = e.Message.Usage
		case "content_block_start":
			a.message.Content, inputs = append(a.message.Content, e.Block), append(inputs, "")
		case "content_block_delta":
			if e.Index < 0 || e.Index >= len(inputs) {
				return a, errors.New("read the answer: a delta of an unknown block")
			}
			a.message.Content[e.Index].Text += e.Delta.Text
			inputs[e.Index] += e.Delta.Partial
			if e.Delta.Text != "" {
				each(e.Delta.Text)
			}
		case "message_delta":
			a.stop = e.Delta.Stop
			if e.Usage != nil {
				a.usage.Output = e.Usage.Output
			}
		case "message_stop":
			for i, in := range inputs {
				if in != "" {
					a.message.Content[i].Input = json.RawMessage(in)
				}
			}
			return a, nil
		case "error":
			return a, fmt.Errorf("the model stopped with an error: %s", plain(e.Error.Type+": "+e.Error.Message))
		}
	}
	return a, fmt.Errorf("the answer was cut off: %w", errors.Join(lines.Err(), io.ErrUnexpectedEOF))
}
