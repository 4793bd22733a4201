package hook

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	maxPayload = 4 << 20         // of a hook's report
	patience   = 5 * time.Second // for each step of the exchange
)

// Report posts what an agent's hook wrote, and returns once the gateway has received it, or has decided what the hook asks;
// that is written to the agent. A gateway that ends before has decided nothing. Report uses no proxy of the environment,
// which would see the secret address.
func Report(base, event string, from io.Reader, agent io.Writer) error {
	to, err := parse(base)
	if err != nil {
		return err
	}
	payload, err := io.ReadAll(io.LimitReader(from, maxPayload))
	if err != nil {
		return errors.New("read the report: " + err.Error())
	}
	says, err := to.post("/"+escape(event), payload)
	if err != nil {
		return errors.New("report " + event + ": the gateway does not answer")
	}
	if _, err := agent.Write(says); err != nil {
		return errors.New("answer " + event + ": " + err.Error())
	}
	return nil
}

// post sends a request and returns the content of the response. Where the gateway answers that it is still being decided,
// it waits however long that takes.
func (a address) post(event string, payload []byte) ([]byte, error) {
	fd, err := dial(a.port)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Close(fd) }()
	request := "POST " + a.path + event + " HTTP/1.1\r\nHost: 127.0.0.1:" + strconv.Itoa(a.port) +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(payload)) +
		"\r\nConnection: close\r\n\r\n"
	for rest := append([]byte(request), payload...); len(rest) > 0; {
		n, err := again(func() (int, error) { return syscall.Write(fd, rest) })
		if err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	var got []byte
	buf := make([]byte, 4<<10)
	for waits := false; ; {
		n, err := again(func() (int, error) { return syscall.Read(fd, buf) })
		switch {
		case err == nil && n == 0 && waits:
			return nil, nil // it ended
		case err == nil && n == 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		got = append(got, buf[:n]...)
		if after, is := strings.CutPrefix(string(got), deciding); is && !waits {
			waits, got = true, []byte(after)
			if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{}); err != nil {
				return nil, err
			}
		}
		switch head, body, whole := strings.Cut(string(got), "\r\n\r\n"); {
		case len(got) > maxAnswer:
			return nil, errors.New("too much")
		case strings.HasPrefix(head, "HTTP/1.1 204 "), whole && !strings.HasPrefix(head, "HTTP/1.1 200 "):
			return nil, nil
		case whole && strings.Contains(head+"\r\n", "\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n"):
			return []byte(body), nil
		}
	}
}

// deciding is what the gateway answers first where a person is asked.
const deciding = "HTTP/1.1 102 Processing\r\n\r\n"

// maxAnswer limits the size of a response.
const maxAnswer = 64 << 10

// dial connects to a port of 127.0.0.1.
func dial(port int) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	limit := syscall.NsecToTimeval(int64(patience))
	for _, option := range []int{syscall.SO_SNDTIMEO, syscall.SO_RCVTIMEO} {
		if err == nil {
			err = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &limit)
		}
	}
	if err == nil {
		err = syscall.Connect(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		_ = syscall.Close(fd)
	}
	return fd, err
}

// again retries a system call that was interrupted by a signal, as the runtime does.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
