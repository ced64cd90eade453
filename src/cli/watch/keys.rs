//! Which key was pressed: only plain ones count, so that no escape sequence decides anything.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key that the screen knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A letter, digit or sign, with its case.
    Char(char),
    /// Return.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Ctrl-C.
    Interrupt,
}

/// The key of a terminal's event; none for what is held, let go, or pressed with Alt or Ctrl.
pub(super) fn key(event: KeyEvent) -> Option<Key> {
    if event.kind != KeyEventKind::Press {
        return None;
    }
    if event.modifiers == KeyModifiers::CONTROL && event.code == KeyCode::Char('c') {
        return Some(Key::Interrupt);
    }
    if !(event.modifiers - KeyModifiers::SHIFT).is_empty() {
        return None;
    }
    Some(match event.code {
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_presses_are_keys() {
        let event = |code, modifiers| KeyEvent::new(code, modifiers);
        let a = KeyCode::Char('a');
        assert_eq!(key(event(a, KeyModifiers::NONE)), Some(Key::Char('a')));
        assert_eq!(key(event(KeyCode::Char('A'), KeyModifiers::SHIFT)), Some(Key::Char('A')));
        // An escape sequence that is cut off looks like Alt and its rest.
        assert_eq!(key(event(a, KeyModifiers::ALT)), None);
        assert_eq!(key(event(a, KeyModifiers::CONTROL)), None);
        assert_eq!(key(event(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(Key::Interrupt));
        for kind in [KeyEventKind::Repeat, KeyEventKind::Release] {
            assert_eq!(key(KeyEvent { kind, ..event(a, KeyModifiers::NONE) }), None, "{kind:?}");
        }
    }
}
