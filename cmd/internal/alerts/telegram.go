package alerts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
)

// telegramAPI is where Telegram is asked.
var telegramAPI = "https://api.telegram.org"

// sendTelegram sends a text to each chat of an address. The library reports a message as sent when
// nobody answered, or not in JSON, so that it only reads the address.
func sendTelegram(ctx context.Context, c *telegram.Config, text string) error {
	for _, chat := range c.Chats {
		id, thread, _ := strings.Cut(chat, ":")
		body, err := json.Marshal(struct {
			ID     string      `json:"chat_id"`
			Thread json.Number `json:"message_thread_id,omitempty"`
			Text   string      `json:"text"`
			Silent bool        `json:"disable_notification"`
		}{id, json.Number(thread), text, !c.Notification})
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, telegramAPI+"/bot"+c.Token+"/sendMessage", bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		var said struct{ OK bool }
		err = json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&said)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("the answer of Telegram is %s", answer.Status)
		}
		if err != nil || !said.OK {
			return errors.New("the answer of Telegram does not say that it took the message")
		}
	}
	return nil
}
