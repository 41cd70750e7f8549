"""The one door to language models: counted, limited, paced and recorded alike for every agent."""
