package platformtest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Serve answers on the listener until ctx ends, which is no error.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		stopped <- server.Shutdown(grace)
	})
	err := server.Serve(listener)
	if stop() { // it failed by itself
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	}
	return <-stopped
}
