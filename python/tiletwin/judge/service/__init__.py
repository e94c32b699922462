"""The judge as a service over HTTP: `tiletwin judge --serve`. FastAPI, uvicorn, limits and prometheus-client are
optional dependencies (tiletwin[serve]).

Read next: app.py (what can be asked), desk.py (the queue), docs/howto/judge_training.md.
"""
