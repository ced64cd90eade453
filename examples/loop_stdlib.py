import json, os, urllib.request

def ask(url, token, body=None):  # a POST where there is a body, else a GET
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as answer:
        return json.load(answer)

model, key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
gate, token = os.environ["TOOLGATE_URL"], os.environ["TOOLGATE_TOKEN"]

session = f"{gate}/v1/sessions/" + ask(f"{gate}/v1/sessions", token, {})["session_id"]
tools = ask(f"{session}/tools?format=openai", token)["tools"]
messages = [{"role": "user", "content": "Look around, and tell me what you see."}]
while True:
    request = {"model": "gpt-5.5", "messages": messages, "tools": tools}
    messages.append(ask(f"{model}/chat/completions", key, request)["choices"][0]["message"])
    turn = f"{session}/turns?format=openai&turn={len(messages)}&wait_ms=30000"
    while "messages" not in (answer := ask(turn, token, messages[-1])):
        print("waiting for a person to decide")
    if not answer["messages"]:
        break
    messages += answer["messages"]
print(messages[-1]["content"])
