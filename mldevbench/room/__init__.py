"""Rooms: sandboxes in which a validation runs submitted code."""

from mldevbench.room.room import Room, ran_well
from mldevbench.room.settings import RoomSettings, room_settings, rooms

__all__ = ["Room", "RoomSettings", "ran_well", "room_settings", "rooms"]
