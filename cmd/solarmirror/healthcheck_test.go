package main

import "testing"

func TestDialAddress(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"127.0.0.1:8480": "127.0.0.1:8480", ":8480": "127.0.0.1:8480", "0.0.0.0:80": "127.0.0.1:80", "[::]:80": "[::1]:80",
		"[::1]:80": "[::1]:80", "mirror.example:80": "mirror.example:80",
	} {
		if got := dialAddress(listen); got != want {
			t.Errorf("dialAddress(%q) = %q, want %q", listen, got, want)
		}
	}
}
