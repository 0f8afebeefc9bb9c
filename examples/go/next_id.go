// IDs in Go, with the standard library.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// Client takes IDs from the sidecar. It keeps connections open, and any goroutine may use it.
type Client struct {
	socket string
	http   http.Client
}

func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &Client{socket, http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: 5 * time.Second}}
}

func (c *Client) NextIDs(ctx context.Context, count int) ([]int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://localhost/next-id?count=%d", count), nil)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("no ID from %s: %w", c.socket, err)
	}
	defer response.Body.Close()
	var answer struct {
		Msg, Error string
		Data       struct{ IDs []int64 }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("no ID from %s: %w", c.socket, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("no ID from %s: %d %s: %s", c.socket, response.StatusCode, answer.Msg, answer.Error)
	}
	return answer.Data.IDs, nil
}

func (c *Client) NextID(ctx context.Context) (int64, error) {
	ids, err := c.NextIDs(ctx, 1)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

func main() {
	socket := "/run/next-id/next-id.sock"
	if path, ok := os.LookupEnv("NEXT_ID_SOCKET"); ok {
		socket = path
	}
	client, ctx := NewClient(socket), context.Background()
	id, err := client.NextID(ctx)
	exitOn(err)
	fmt.Println("id", id)
	ids, err := client.NextIDs(ctx, 3)
	exitOn(err)
	fmt.Println("ids", ids[0], ids[1], ids[2])
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
