package alerts

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/slack"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/teams"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/email/smtp"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/gotify"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/specialized/generic"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"solarmirror/cmd/internal/words"
)

// services makes each kind of address, by its scheme.
var services = map[string]func() types.Service{
	"discord":  func() types.Service { return &discord.Service{} },
	"generic":  func() types.Service { return &generic.Service{} },
	"gotify":   func() types.Service { return &gotify.Service{} },
	"ntfy":     func() types.Service { return &ntfy.Service{} },
	"slack":    func() types.Service { return &slack.Service{} },
	"smtp":     func() types.Service { return &smtp.Service{} },
	"teams":    func() types.Service { return &teams.Service{} },
	"telegram": func() types.Service { return &telegram.Service{} },
}

// sendTime is how long one message to one address, or one ping, may take.
const sendTime = 10 * time.Second

// Some services of the library send by http.DefaultClient, which waits for ever and follows
// redirects. Nothing else in this program uses it.
func init() { *http.DefaultClient = *client }

// CheckAddress says why a text is no address to alert, without quoting it.
func CheckAddress(text string) error {
	_, err := serviceOf(text)
	return err
}

// CheckPing says why a text is no address to ping, without quoting it.
func CheckPing(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errors.New("is no address to ping; want http:// or https:// and a host, such as https://hc-ping.com/your-uuid")
	}
	if !GoodPort(u) {
		return errPort
	}
	return nil
}

var errPort = errors.New("has a port that is none; want 1 to 65535, or no port")

// GoodPort says whether the port of an address is one, or is left out.
func GoodPort(u *url.URL) bool {
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Port() == "" || err == nil && n > 0
}

// kindOf is the scheme of an address, which holds no secret; "" when it is none.
func kindOf(text string) string {
	scheme, _, found := strings.Cut(text, ":")
	scheme, _, _ = strings.Cut(strings.ToLower(scheme), "+")
	if _, known := services[scheme]; !found || !known {
		return ""
	}
	return scheme
}

func serviceOf(text string) (types.Service, error) {
	kind := kindOf(text)
	u, err := url.Parse(text)
	if kind == "" || err != nil {
		return nil, fmt.Errorf("is no address to alert; want one that begins with %s:// (any other web hook: generic+https://…)",
			strings.Join(slices.Sorted(maps.Keys(services)), "://, "))
	}
	if !GoodPort(u) {
		return nil, errPort
	}
	service, silent := services[kind](), log.New(io.Discard, "", 0)
	if custom, takes := service.(types.CustomURLService); u.Scheme != kind {
		if !takes {
			return nil, fmt.Errorf("is no address of %[1]s; want %[1]s:// in front", kind)
		}
		if u, err = custom.GetConfigURLFromCustom(u); err != nil {
			return nil, fmt.Errorf("is no address of %s: %s", kind, harmless(err, text))
		}
	}
	if err := service.Initialize(u, silent); err != nil {
		return nil, fmt.Errorf("is no address of %s: %s", kind, harmless(err, text))
	}
	return service, nil
}

// identity stands for an address in the state file.
func identity(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:8])
}

// under limits how many sendings that did not end in time are left to end by themselves: some
// services of the library cannot be told to stop.
var under = make(chan struct{}, 32)

// send sends one message and returns when ctx ends, if not before. ctx has a deadline.
func send(ctx context.Context, address, title, text string) error {
	service, err := serviceOf(address)
	if err != nil {
		return err
	}
	bound := func(trustsAll bool) *http.Client { return &http.Client{Transport: within{ctx, trustsAll}} }
	deliver := func() error { return service.Send(text, &types.Params{types.TitleKey: title}) }
	switch service := service.(type) {
	case *ntfy.Service:
		service.SetHTTPClient(bound(service.Config.DisableTLSVerification))
	case *gotify.Service:
		*service.GetHTTPClient() = *bound(service.Config.InsecureSkipVerify)
	case *discord.Service:
		service.HTTPClient = bound(false)
	case *telegram.Service:
		deliver = func() error { return sendTelegram(ctx, service.GetConfig(), text) }
	case *smtp.Service:
		title = mime.QEncoding.Encode("utf-8", title)
	}
	select {
	case under <- struct{}{}:
	default:
		return errors.New("earlier messages still hang; nothing was sent")
	}
	result := make(chan error, 1)
	go func() {
		defer func() { <-under }()
		result <- deliver()
	}()
	select {
	case err = <-result:
	case <-ctx.Done():
		return errors.New("no answer in time")
	}
	if err != nil {
		return errors.New(harmless(err, address))
	}
	return nil
}

// client sends what is not the library's own to send.
var client = &http.Client{Timeout: sendTime, Transport: newTransport(nil)}

// trusting is the transport for addresses that say not to look at certificates.
var trusting = newTransport(&tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true})

func newTransport(c *tls.Config) direct {
	return direct{&http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSHandshakeTimeout: sendTime, TLSClientConfig: c,
	}}
}

// direct makes an error of a redirect. Followed, most would ask for a page, and what that answers
// would count as the message taken.
type direct struct{ *http.Transport }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := d.Transport.RoundTrip(r)
	if err == nil && answer.StatusCode >= 300 && answer.StatusCode < 400 {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("the answer is %s, a redirect, and none is followed: write the address it leads to", answer.Status)
	}
	return answer, err
}

// within is a transport until ctx ends: the library takes no context.
type within struct {
	ctx       context.Context
	trustsAll bool
}

func (w within) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.WithContext(w.ctx)
	if w.trustsAll {
		return trusting.RoundTrip(r)
	}
	return client.Transport.RoundTrip(r)
}

// addresses finds what an error says of where it was on its way to.
var addresses = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://\S*`)

// harmless is the text of an error that may quote an address, without the address, any part of it,
// and what the other side said in quotation marks.
func harmless(err error, address string) string {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	text := addresses.ReplaceAllString(words.WithoutQuotes(err.Error()), "…")
	for _, secret := range partsOf(address) {
		text = strings.ReplaceAll(text, secret, "…")
	}
	text, _, _ = strings.Cut(text, "\n")
	return words.Shorten(text, maxLine)
}

// partsOf lists the parts of an address that may be a secret, the longest first.
func partsOf(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return []string{address}
	}
	list := []string{address, u.Path, u.Fragment, u.RawQuery, u.Host}
	_, rest, _ := strings.Cut(address, "://")
	list = append(list, strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("/:@?&=#-", r) })...)
	if u.User != nil {
		password, _ := u.User.Password()
		list = append(list, u.User.Username(), password, u.User.String())
	}
	for _, values := range u.Query() {
		list = append(list, values...)
	}
	list = slices.DeleteFunc(list, func(part string) bool { return len(part) < minSecret })
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}

// minSecret is the length of the shortest part of an address that is worth hiding: a shorter one
// would only make holes in words.
const minSecret = 5
